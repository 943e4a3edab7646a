/**
 * What a site pastes, with `{src}` and `{token}` to be filled in. Until the script has loaded, the global `tracker` is an
 * array of calls, each `[method, args, resolve]` with its promise as `args.p`; then the script takes it over
 * (`page.ts`). `var`, so that an element with `id="tracker"` is not taken for it.
 */
export const snippet = `<script>var tracker=tracker||[];["log","reset","consent","createContact"].map(m=>tracker[m]=(...a)=>a.p=new Promise(r=>tracker.push([m,a,r])))</script>
<script async src="{src}" data-token="{token}"></script>
`;
