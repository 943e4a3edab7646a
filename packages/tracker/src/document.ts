/**
 * The document, safe from elements that hide its properties: with `<img name="cookie">` on the page, `document.cookie` is that
 * element (HTML, "DOM tree accessors"). This proxy calls the getters and setters of the prototype, which an element can't replace.
 * The build gives it to js-cookie as its `document`.
 */
export const safeDocument = new Proxy({} as Document, {
  get: (_, name) => Reflect.get(Document.prototype, name, document),
  set: (_, name, value) => Reflect.set(Document.prototype, name, value, document),
});
