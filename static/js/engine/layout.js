// Layout is part of the stimulus. The members of a pair get equally many lines, and the space of the tallest stimulus
// of the list is reserved on every trial, so that answers do not move. What was shown is recorded with the answer.

import { context, make, stimulus } from "./dom.js";

const NARROWEST = 0.5; // share of the full width below which members get widths of their own
const MORE_LINES = 2; // tried beyond those of the longer member, before that

// Sentences of a screen, in their order; a reference sentence is the same on every screen.
function stimuliIn(element) {
  return [...element.querySelectorAll(".sentence")].filter((span) => !span.closest(".reference"));
}

function stimuliOf(trial) {
  return trial.options.length ? trial.options : trial.sentence ? [trial.sentence] : [];
}

// Lines of a text on the screen, without its ruby annotations.
export function linesOf(span) {
  const apart = parseFloat(getComputedStyle(span).fontSize) / 2; // a subscript is on the line of its word
  const isText = (node) => (node.parentElement.closest("rt, rp") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const walker = document.createTreeWalker(span, NodeFilter.SHOW_TEXT, isText);
  const range = document.createRange();
  const middles = [];
  while (walker.nextNode()) {
    range.selectNodeContents(walker.currentNode);
    for (const { top, bottom, width } of range.getClientRects()) if (width) middles.push((top + bottom) / 2);
  }
  middles.sort((a, b) => a - b);
  return middles.filter((middle, place) => place === 0 || middle - middles[place - 1] > apart).length;
}

function setWidth(span, px) {
  span.style.width = `${px}px`;
}

// The longest word's width: a narrower text would be broken within words.
function longestWord(span) {
  const { overflowWrap, width } = span.style;
  Object.assign(span.style, { overflowWrap: "normal", width: "min-content" });
  const px = Math.ceil(span.getBoundingClientRect().width);
  Object.assign(span.style, { overflowWrap, width });
  return px;
}

// The largest width, whole or the full one, at which a text has at least n lines; 0 where no word-wise break gives so many.
function widest(span, n, { full, narrowest }) {
  const hasLines = (px) => {
    setWidth(span, px);
    return linesOf(span) >= n;
  };
  if (hasLines(full)) return full;
  if (narrowest >= full || !hasLines(narrowest)) return 0;
  let [low, high] = [narrowest, Math.ceil(full)]; // the number of lines falls as the width grows
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (hasLines(middle)) low = middle;
    else high = middle;
  }
  return low;
}

// Widths at which the members have equally many lines: the full one, else one for both, else their own; else the full one.
function evenWidths(spans, full) {
  const alike = (widths) => {
    spans.forEach((span, place) => setWidth(span, widths[place]));
    return new Set(spans.map(linesOf)).size === 1;
  };
  const same = (px) => spans.map(() => px);
  if (spans.length !== 2 || alike(same(full))) return same(full);
  const words = spans.map(longestWord);
  const most = Math.max(...spans.map(linesOf));
  const narrowest = Math.max(...words, Math.ceil(NARROWEST * full));
  for (let n = most; n <= most + MORE_LINES; n += 1) {
    const px = Math.min(...spans.map((span) => widest(span, n, { full, narrowest })));
    if (px && alike(same(px))) return same(px);
  }
  for (let n = most; n <= most + MORE_LINES; n += 1) {
    const own = spans.map((span, place) => widest(span, n, { full, narrowest: words[place] }));
    if (own.every(Boolean) && alike(own)) return own;
  }
  return same(full);
}

export class Layout {
  #measured = new Map();

  constructor(plan) {
    this.trials = plan.trials;
    this.isContextBefore = Boolean(plan.context); // on a separate screen
    this.hasContexts = !this.isContextBefore && plan.trials.some((trial) => trial.context);
  }

  // Widths of every stimulus of the plan and the height of the tallest, measured where the sample is shown.
  #measure(sample, full) {
    const key = `${full} ${getComputedStyle(sample).fontSize}`;
    if (this.#measured.has(key)) return this.#measured.get(key);
    const probe = make("span", { class: "probe", "aria-hidden": "true" });
    setWidth(probe, full); // contexts within options are as wide as their sentences
    sample.parentElement.append(probe);
    const [widths, heights] = [new Map(), [0]];
    for (const trial of this.trials) {
      const shown = stimuliOf(trial).map(stimulus);
      probe.replaceChildren(...shown);
      const spans = stimuliIn(probe);
      widths.set(trial.id, evenWidths(spans, full));
      spans.forEach((span, place) => setWidth(span, widths.get(trial.id)[place]));
      heights.push(...shown.map((one) => one.getBoundingClientRect().height));
    }
    probe.remove();
    const layout = { widths, height: Math.ceil(Math.max(...heights)) };
    this.#measured.set(key, layout);
    return layout;
  }

  // The height of the tallest context of the plan, in the place of this screen's one.
  #contextHeight(block) {
    const key = `context ${block.getBoundingClientRect().width} ${getComputedStyle(block).fontSize}`;
    if (!this.#measured.has(key)) {
      const probe = make("div", { class: "context-probe", "aria-hidden": "true" });
      probe.append(...this.trials.filter((trial) => trial.context).map((trial) => context(trial.context)));
      block.parentElement.append(probe);
      const heights = [...probe.children].map((one) => one.getBoundingClientRect().height);
      probe.remove();
      this.#measured.set(key, Math.ceil(Math.max(...heights)));
    }
    return this.#measured.get(key);
  }

  // Lays one trial's screen out.
  apply(element, trial) {
    const block = [...element.querySelectorAll(".context")].find((one) => !one.closest(".in-context"));
    if (block) element.style.setProperty("--context", `${this.#contextHeight(block)}px`);
    const spans = stimuliIn(element);
    if (!spans.length) return;
    for (const span of spans) span.style.maxWidth = "";
    const full = Math.min(...spans.map((span) => span.getBoundingClientRect().width)); // not rounded: lines hang on it
    const { widths, height } = this.#measure(spans[0], full);
    spans.forEach((span, place) => {
      const px = widths.get(trial.id)?.[place] ?? full;
      span.style.maxWidth = px < full ? `${px}px` : "";
    });
    element.style.setProperty("--stimulus", `${height}px`);
  }

  // Lays the screen out again whenever the window changes its width, until the signal ends; counts how often.
  follow(element, trial, signal) {
    let [n, width] = [0, innerWidth];
    addEventListener("resize", () => {
      if (innerWidth === width) return; // a keyboard on the screen changes the height alone
      [n, width] = [n + 1, innerWidth];
      this.apply(element, trial);
    }, { signal });
    return () => n;
  }
}

function orientationOf(answers) {
  const boxes = answers.map((answer) => answer.getBoundingClientRect());
  const differ = (side) => boxes.some((box) => Math.abs(box[side] - boxes[0][side]) > 1);
  if (!differ("top")) return "row";
  return differ("left") ? "grid" : "column";
}

const UNASSIGNED = ["\u0378", "\u0380", "\u{3fff0}"]; // no font has these: the device shows its sign for a missing glyph
const SIZES = ["64px", "512px"];
const shapes = new Map();

// Advance and ink of a sign, which a device draws alike for all that it has no glyph for. At one size alone, rounding
// gives a letter the box of that sign now and then.
function shapeOf(sign, pen, face) {
  const key = `${face("")} ${sign}`;
  if (!shapes.has(key)) {
    const boxes = SIZES.flatMap((size) => {
      pen.font = face(size);
      const m = pen.measureText(sign);
      return [m.width, m.actualBoundingBoxLeft, m.actualBoundingBoxRight, m.actualBoundingBoxAscent, m.actualBoundingBoxDescent];
    });
    shapes.set(key, boxes.map((px) => px.toFixed(2)).join(" "));
  }
  return shapes.get(key);
}

// Distinct signs of the stimuli for which this device has no glyph.
function missingGlyphs(spans) {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return 0;
  const missing = new Set();
  for (const span of spans) {
    const { fontStyle, fontWeight, fontFamily } = getComputedStyle(span);
    const face = (size) => `${fontStyle} ${fontWeight} ${size} ${fontFamily}`;
    const boxes = new Set(UNASSIGNED.map((sign) => shapeOf(sign, pen, face)));
    const signs = new Set(span.textContent.replace(/[\p{Z}\p{Cc}\p{Cf}\p{M}\s]/gu, ""));
    for (const sign of signs) if (boxes.has(shapeOf(sign, pen, face))) missing.add(sign);
  }
  return missing.size;
}

// What is recorded of a screen: lines of each stimulus, size of its letters, direction and size of the scale.
export function layoutFacts(element) {
  const spans = stimuliIn(element);
  const lines = spans.map(linesOf);
  const missing_glyphs = missingGlyphs(spans);
  const scale = element.querySelector(".scale, .options, .line");
  const answers = scale ? [...scale.querySelectorAll(".option")] : [];
  const box = scale?.getBoundingClientRect();
  return {
    lines,
    ...(lines.length === 2 && lines[0] !== lines[1] ? { lines_differ: true } : {}),
    ...(spans.length ? { letter_px: parseFloat(getComputedStyle(spans[0]).fontSize) } : {}),
    ...(missing_glyphs ? { missing_glyphs } : {}),
    ...(scale ? { orientation: answers.length ? orientationOf(answers) : "row" } : {}),
    ...(box ? { scale_size: `${Math.round(box.width)}x${Math.round(box.height)}` } : {}),
    viewport: `${innerWidth}x${innerHeight}`,
  };
}
