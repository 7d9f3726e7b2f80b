// Scripts run here, so the answer may be the session's first page itself (see engine/start.js).
const form = document.querySelector("main form");
const told = Object.assign(document.createElement("input"), { type: "hidden", name: "script", value: "1" });
form.append(told);
