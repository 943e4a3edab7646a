/**
 * The HTML that a site pastes into its pages, with the placeholders `{src}` and `{token}`. Until the script loads,
 * `tracker` is an array of calls `[method, args, resolve, time]`, each with its promise as `args.p`.
 *
 * An existing own property `tracker` of the window is left alone; an element with `id="tracker"` is no own property.
 * `var` is avoided, because it would make a page's own `let tracker` an error.
 */
export const snippet = `<script>self.hasOwnProperty("tracker")||(t=>"log reset flush consent createContact getUserUUID set".split(" ").map(m=>t[m]=(...a)=>a.p=new Promise(r=>t.push([m,a,r,new Date]))))(self.tracker=[])</script>
<script async src="{src}" data-token="{token}"></script>
`;

/**
 * An optional script to paste after the snippet: if the visitor leaves before the tracker loads, this script stores the
 * logged events in the form of `toEventRecord`, and the next page sends them. If the visitor stays, the tracker on this
 * page does.
 *
 * It respects consent (`hasInitialConsent`) and `beforeSend`; calls to other methods are lost with the page. Before a
 * page has loaded, WebKit fires `beforeunload` but not `pagehide`.
 */
export const earlyEventsScript = `<script>
(() => {
  const save = () => {
    const { dataset } = document.querySelector("script[data-token^=browser_]");
    const [, user = ""] = /(?:^|; )userUUID=([\\w-]+)/.exec(document.cookie) || [];
    const refuses = navigator.globalPrivacyControl || ("dnt" in dataset && navigator.doNotTrack === "1");
    if (document.prerendering || localStorage.ignore_firsthand || (refuses ? !user[21] : "consent" in dataset && !user[15])) return;
    if (tracker.some(([method, args]) => method === "consent" && !args[0])) return;
    const common = { robot: navigator.webdriver || null };
    let [tick, isReset] = [0, false];
    const clean = (text) => text.replace(/[\\0\\p{Cs}]/gu, "");
    const toRecord = ([eventID, attrs], time) => {
      const event = { eventID, attrs };
      if (tracker.beforeSend && String(tracker.beforeSend(event)) === "false") return;
      const { eventID: id, attrs: own } = event;
      const isNumber = /string|number/.test(typeof id) && +id > 0 && +id === ~~id;
      if (!isNumber && !(typeof id === "string" && id.trim())) return;
      const listed = Array.isArray(own) && Object.fromEntries(own.map((each) => [each.attrID, each.attrValue]));
      const eventAttrArray = Object.entries({ ...common, ...(listed || (Object(own) === own ? own : { value: own })) })
        .map(([attrID, value]) => [attrID, value && value.toISOString ? value.toISOString() : value])
        .filter(([attrID, value]) => attrID && / (String|Number|Boolean|BigInt|Object|Array)]/.test({}.toString.call(value)))
        .map(([attrID, value]) => [attrID, Object(value) === value ? value : clean(String(value).slice(0, 2048))])
        .map(([attrID, attrValue]) => ({ attrID: clean(attrID.slice(0, 64)), attrValue }));
      tick = Math.max(tick + 1, time * 1296);
      const eventUUID = tick.toString(36) + Math.random().toString(36).slice(2, 12).padEnd(10, "0");
      const kind = isNumber ? { eventID: +id } : { eventName: clean(id) };
      const record = { ...kind, eventUUID, eventTime: +time, eventAttrArray: eventAttrArray.slice(0, 100) };
      localStorage["firsthand:" + eventUUID + dataset.token] = JSON.stringify(record);
    };
    for (const call of tracker.splice(0)) {
      const [method, args, , time] = call;
      isReset = isReset || method === "reset";
      if (method === "set") Object.assign(common, args[0]);
      if (isReset || method !== "log") tracker.push(call);
      else try { toRecord(args, time); } catch { tracker.push(call); }
    }
  };
  for (const type of ["pagehide", "beforeunload"]) addEventListener(type, () => { try { save(); } catch {} });
})();
</script>
`;
