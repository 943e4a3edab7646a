/**
 * Calls a method of `Element.prototype`, because a form field can shadow its form's method: `<form><input
 * name="closest">` (HTML, "The form element").
 */
export const callOn = <Method extends 'closest' | 'getAttribute'>(
  element: EventTarget | null,
  method: Method,
  text: string,
): ReturnType<Element[Method]> => Reflect.apply(Element.prototype[method], element, [text]);
