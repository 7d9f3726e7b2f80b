// Reports that a trial's page shows its plain form because the engine's files did not arrive or cannot be read: start.js
// would have replaced this reason first. A request for a picture in the oldest syntax, for the browsers where that happens.

(function () {
  "use strict";
  window.addEventListener("load", function () {
    var field = document.querySelector("[name=no_engine]");
    if (field && field.value === "not_loaded") new Image().src = field.getAttribute("data-report") + "?reason=not_loaded";
  });
})();
