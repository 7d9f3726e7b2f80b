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

// The few tags that keep their meaning in a text; the server reads them, nothing here is parsed as markup.
const INLINE = new Set(["b", "br", "em", "i", "rp", "rt", "ruby", "s", "span", "strong", "sub", "sup", "u"]);

export function inline(nodes) {
  return nodes.flatMap((node) => {
    if (typeof node === "string") return [node];
    const inner = inline(node.nodes);
    return INLINE.has(node.tag) ? [make(node.tag, { lang: node.lang, dir: node.dir }, ...inner)] : inner;
  });
}

// A sentence exactly as stored, with its own language and direction; a browser that translates pages leaves it alone.
// Where the server gives its phrases (Japanese, Chinese), its lines break between them only.
export function sentence({ text, nodes, phrases, language, direction }) {
  const breakable = phrases?.flatMap((phrase, place) => (place ? [make("wbr"), phrase] : [phrase]));
  const attributes = { class: phrases ? "sentence phrases" : "sentence", lang: language, dir: direction, translate: "no" };
  return make("span", attributes, ...(nodes ? inline(nodes) : breakable ?? [text]));
}

// The text before a sentence, a block for each of its lines; lines of Japanese and Chinese break between phrases only.
export function context({ label, lines, is_dialogue, has_phrases, language, direction }) {
  const kinds = ["context", is_dialogue && "dialogue", has_phrases && "phrases"].filter(Boolean).join(" ");
  const isText = (node) => typeof node === "string";
  const breakable = (nodes) => nodes.flatMap((node, place) => {
    return place && isText(node) && isText(nodes[place - 1]) ? [make("wbr"), node] : inline([node]);
  });
  const { lang, dir } = document.documentElement; // of the study's own words
  return make("span", { class: kinds, lang: language, dir: direction, translate: "no" },
    label ? make("span", { class: "label", lang, dir }, label) : null,
    ...lines.map((nodes) => make("span", { class: "turn" }, ...breakable(nodes))));
}

// A sentence after its own context, where the options of a screen have different ones.
export function stimulus(option) {
  if (!option.context) return sentence(option);
  return make("span", { class: "in-context" }, context(option.context), sentence(option));
}

// Fill the gaps of a translated text: "Block %(now)s of %(all)s".
export function fill(text, values) {
  return text.replace(/%\((\w+)\)s/g, (gap, name) => String(values[name] ?? gap));
}
