/**
 * The document, without the elements that hide its properties. `document.cookie` and every other may be an element of the page
 * instead: `<img name="cookie">` (HTML, "DOM tree accessors"). An element can't replace a getter or a setter of the prototype,
 * and these are called here. The build gives this object to js-cookie as its `document`.
 */
export const safeDocument = new Proxy({} as Document, {
  get: (_, name) => Reflect.get(Document.prototype, name, document),
  set: (_, name, value) => Reflect.set(Document.prototype, name, value, document),
});
