// Numbers typed as keys, where a scale has points of two digits: "1" waits a moment for the "0" of "10".

const WAIT_MS = 700;

// The digit that a sign of any script stands for: digits come in tens, from nought.
export function digitOf(sign) {
  let digit = 0;
  while (digit < 9 && /\p{Nd}/u.test(String.fromCodePoint(sign.codePointAt(0) - digit - 1))) digit += 1;
  return String(digit);
}

// The digit of a number key: as printed, in any script; else by where the key lies, for keyboards that print
// digits above other signs (the 2 of a French one sends "é"). Arrows of a number pad are no digits.
export function digitKey({ key, code }) {
  if (/^\p{Nd}$/u.test(key)) return digitOf(key);
  const isSign = [...key].length === 1 || ["Dead", "Process", "Unidentified"].includes(key);
  return (isSign && code.match(/^(?:Digit|Numpad)([0-9])$/)?.[1]) || null;
}

// values: the points as text; mark(value) shows what is being typed; take(event, value) takes it, once whole.
export function digitReader(values, { mark, take, signal }) {
  let [typed, last, timer] = ["", null, null];
  const stop = () => {
    clearTimeout(timer);
    [typed, last] = ["", null];
  };
  const flush = () => {
    const [value, event] = [typed, last];
    stop();
    if (values.includes(value)) take(event, value);
  };
  const read = (event) => {
    const digit = digitKey(event);
    if (digit === null) return false;
    clearTimeout(timer);
    const begins = (text) => values.some((one) => one.startsWith(text));
    typed = begins(typed + digit) ? typed + digit : digit;
    if (!begins(typed)) {
      stop();
      return false;
    }
    last = event;
    if (!values.some((one) => one !== typed && one.startsWith(typed))) flush();
    else {
      if (values.includes(typed)) mark(typed);
      timer = setTimeout(flush, WAIT_MS);
    }
    return true;
  };
  signal.addEventListener("abort", stop, { once: true });
  return { read, stop, flush };
}
