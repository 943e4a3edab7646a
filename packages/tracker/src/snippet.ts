/**
 * What a site pastes, with `{src}` and `{token}` to be filled in. Until the script has loaded, the global `tracker` is an
 * array of calls, each `[method, args, resolve, time]` with its promise as `args.p`; then the script takes it over
 * (`page.ts`). A property of the window's own that is called `tracker` stays as it is; an element with `id="tracker"` is none. Not
 * `var`, which would make a page's own `let tracker` an error.
 */
export const snippet = `<script>self.hasOwnProperty("tracker")||(t=>["log","flush","reset","consent","createContact"].map(m=>t[m]=(...a)=>a.p=new Promise(r=>t.push([m,a,r,new Date]))))(self.tracker=[])</script>
<script async src="{src}" data-token="{token}"></script>
`;
