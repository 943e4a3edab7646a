/**
 * Calls a method of the element's prototype. A form's field hides the form's own: `<form><input name="closest">` (HTML, "The form
 * element").
 */
export const callOn = <Method extends 'closest' | 'getAttribute'>(
  element: EventTarget | null,
  method: Method,
  text: string,
): ReturnType<Element[Method]> => Reflect.apply(Element.prototype[method], element, [text]);
