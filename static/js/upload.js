// Show how far a file has been sent, and that it is being read; without this script the form works alike.
const form = document.querySelector("form[data-upload]");

function send(bar, label) {
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.responseType = "json";
  request.upload.onprogress = ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    label.textContent = `Sending: ${Math.round((100 * loaded) / total)} %`;
  };
  request.upload.onload = () => {
    bar.removeAttribute("value"); // of unknown length from here on
    label.textContent = "Reading the file …";
  };
  // What is refused is explained on the page that the form itself leads to.
  request.onload = () => (request.response?.next ? location.assign(request.response.next) : form.submit());
  request.onerror = () => form.submit();
  request.send(new FormData(form));
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const place = form.querySelector("[data-upload-progress]");
  place.hidden = false;
  form.querySelectorAll("button").forEach((button) => (button.disabled = true));
  send(place.querySelector("progress"), place.querySelector("span"));
});
