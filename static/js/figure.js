// Let the points of a figure answer: the drawing takes the place of its image, so that each mark can be pointed
// at, reached by arrow keys and opened. Without scripts the image stays, and its link opens the drawing.
const LAYOUTS = ["(max-width: 48rem)", "(min-width: 78rem)", "(prefers-color-scheme: dark)"];
const address = (mark) => mark.parentElement.getAttribute("xlink:href");
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

for (const figure of document.querySelectorAll("figure[data-answers]")) {
  const picture = figure.querySelector("picture"), image = picture.querySelector("img");
  const words = figure.querySelector("[data-says]");
  let drawing, isLoading = false, marks = [], place = -1;

  // The image has been loaded in the layout of the page, so the same file comes from the browser's cache.
  // Race: an image that is complete when this script starts may still send its load event.
  async function draw() {
    if (drawing || isLoading) return;
    isLoading = true;
    const answer = await fetch(image.currentSrc, { credentials: "same-origin" }).catch(() => null);
    const text = answer?.ok ? await answer.text() : "";
    isLoading = false;
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    if (parsed.localName !== "svg") return;
    drawing = document.importNode(parsed, true);
    marks = [...drawing.querySelectorAll("a > [role=graphics-symbol]")];
    place = -1;
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", `${image.alt} ${figure.dataset.answers}`);
    drawing.setAttribute("tabindex", "0");
    for (const link of drawing.querySelectorAll("a")) link.setAttribute("tabindex", "-1");
    for (const title of drawing.querySelectorAll("title")) title.remove(); // said below, and at once
    drawing.addEventListener("pointerover", (event) => say(marks.indexOf(event.target)));
    drawing.addEventListener("click", open);
    drawing.addEventListener("keydown", step);
    picture.after(drawing);
    picture.hidden = true;
  }

  function say(number) {
    if (number < 0 || number === place) return;
    marks[place]?.classList.remove("here");
    place = number;
    marks[place].classList.add("here");
    words.textContent = marks[place].getAttribute("aria-label");
    const onward = document.createElement("a");
    onward.href = address(marks[place]);
    onward.textContent = words.dataset.says;
    words.append(" ", onward);
  }

  // A finger cannot hover: its first tap names the point, the second one or the link below opens it.
  let tapped = -1;
  function open(event) {
    const number = marks.indexOf(event.target);
    if (number < 0 || event.pointerType !== "touch" || tapped === number) return;
    tapped = number;
    event.preventDefault();
    say(number);
  }

  function step(event) {
    if (event.key === "Enter") {
      if (marks[place]) location.assign(address(marks[place]));
      return;
    }
    const next = event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1 : place + (STEPS[event.key] ?? NaN);
    if (Number.isNaN(next)) return;
    event.preventDefault();
    say(Math.min(Math.max(next, 0), marks.length - 1));
  }

  function restore() {
    drawing?.remove();
    drawing = undefined;
    picture.hidden = false; // loads the source of the new layout, after which it is drawn again
    if (image.complete) draw();
  }

  image.addEventListener("load", draw);
  for (const layout of LAYOUTS) matchMedia(layout).addEventListener("change", restore);
  if (image.complete && image.naturalWidth) draw();
}
