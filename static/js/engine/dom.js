// Build elements without markup in strings: what a study contains is text, never code.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// A sentence exactly as stored, with its own language and direction.
export function sentence({ text, language, direction }) {
  return make("span", { class: "sentence", lang: language, dir: direction }, text);
}

// Fill the gaps of a translated text: "Block %(now)s of %(all)s".
export function fill(text, values) {
  return text.replace(/%\((\w+)\)s/g, (gap, name) => String(values[name] ?? gap));
}
