/** Hides e-mail addresses in the values of a shared report: attributes, such as the path of a page, may hold some. */

/** Separates the parts of a path, a query and a text; none of them is in an address as people write it. */
const separators = /([\s/?&=#;,:<>()"\\]+)/;

/** An @ as HTML and JavaScript write it, and as it looks in East Asian fonts, which URLs encode too. */
const otherForms =
  /[＠﹫]|%(?:25)*(?:u0040|EF%BC%A0|EF%B9%AB)|\\(?:u0040|u\{0*40\}|x40)|&(?:#0*64|#x0*40|commat);|(?<=[\w.+-])=40(?=[\w-]+\.[a-z])/gi;

/** Text that may be base64, in the alphabet of either kind. A slash occurs in it only for a byte that no address has. */
const base64 = /[\w+-]{8,}/g;
const address = /[\w.+-]@[\w-]+\.[a-z]/i;

/** Whether a text is base64 that holds an address. It may begin with up to three characters of something else. */
const encodesAddress = (text: string): boolean =>
  [0, 1, 2, 3].some((from) => address.test(Buffer.from(text.slice(from), 'base64').toString('latin1')));

/** An @, also as a URL encodes it, once or several times. */
const holdsAddress = /@|%(?:25)*40/i;

/**
 * Returns a function that replaces each part of a text with an @ by `(hidden 1)`, `(hidden 2)` and so on: equal parts by the same, so that
 * rows stay apart.
 */
export const createHideAddresses = () => {
  const hidden = new Map<string, string>();
  return (given: string): string => {
    const text = given.replace(otherForms, '@').replace(base64, (part) => (encodesAddress(part) ? `@${part}` : part));
    if (!holdsAddress.test(text)) return given;
    return text
      .split(separators)
      .map((part) => {
        if (!holdsAddress.test(part)) return part;
        const name = hidden.get(part) ?? `(hidden ${hidden.size + 1})`;
        hidden.set(part, name);
        return name;
      })
      .join('');
  };
};

/** A copy of an answer without addresses. */
export const withoutAddresses = <Answer extends object>(answer: Answer): Answer => {
  const hide = createHideAddresses();
  return JSON.parse(JSON.stringify(answer), (_, value: unknown) => (typeof value === 'string' ? hide(value) : value));
};
