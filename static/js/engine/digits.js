// Numbers typed as keys, where a scale has points of two digits: "1" waits a moment for the "0" of "10".

export const WAIT_MS = 700;

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
    if (!/^[0-9]$/.test(event.key)) return false;
    clearTimeout(timer);
    const begins = (text) => values.some((one) => one.startsWith(text));
    typed = begins(typed + event.key) ? typed + event.key : event.key;
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
