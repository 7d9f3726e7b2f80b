// Tell the server the time zone of this browser, in which the researcher's pages show times.
const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
const secure = location.protocol === "https:" ? "; Secure" : "";
if (name) document.cookie = `time_zone=${name}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
