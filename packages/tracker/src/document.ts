/**
 * The document without elements that shadow its properties: with `<img name="cookie">`, `document.cookie` is that
 * element (HTML, "DOM tree accessors"). The proxy calls the prototype's getters and setters; the build passes it to
 * js-cookie as `document`.
 */
export const safeDocument = new Proxy({} as Document, {
  get: (_, name) => Reflect.get(Document.prototype, name, document),
  set: (_, name, value) => Reflect.set(Document.prototype, name, value, document),
});
