/**
 * The HTML that a site pastes into its pages, with `{src}` and `{token}` to be filled in. Until the script has loaded, the global
 * `tracker` is an array of calls, each `[method, args, resolve, time]` with its promise as `args.p`. Then the script takes it over
 * (`page.ts`). An own property `tracker` of the window stays as it is; an element with `id="tracker"` is none. There is no `var`,
 * because it would make a page's own `let tracker` an error.
 */
export const snippet = `<script>self.hasOwnProperty("tracker")||(t=>"log reset flush consent createContact getUserUUID".split(" ").map(m=>t[m]=(...a)=>a.p=new Promise(r=>t.push([m,a,r,new Date]))))(self.tracker=[])</script>
<script async src="{src}" data-token="{token}"></script>
`;
