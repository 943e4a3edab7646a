/**
 * Properties of the document itself. `document.cookie` and every other may be an element of the page instead:
 * `<img name="cookie">` (HTML, "DOM tree accessors"). An element can't replace a getter of the prototype.
 */
export const ofDocument = <Name extends keyof Document>(name: Name): Document[Name] =>
  Reflect.get(Document.prototype, name, document);

/** Sets `document.cookie`. */
export const setCookie = (cookie: string): void => {
  Reflect.set(Document.prototype, 'cookie', cookie, document);
};
