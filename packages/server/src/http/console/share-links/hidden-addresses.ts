/** Hides e-mail addresses in the values of a shared report: attributes, such as page paths, can contain them. */

/** Separates the parts of paths, queries and prose. Common addresses contain none of these characters. */
const separators = /([\s/?&=#;,:<>()"\\]+)/;

/** Matches @ escaped for HTML or JavaScript, and its full-width forms, even percent-encoded. */
const otherForms =
  /[＠﹫]|%(?:25)*(?:u0040|EF%BC%A0|EF%B9%AB)|\\(?:u0040|u\{0*40\}|x40)|&(?:#0*64|#x0*40|commat);|(?<=[\w.+-])=40(?=[\w-]+\.[a-z])/gi;

/** Matches possible base64 or base64url. Excludes slashes, which encode only bytes that no address contains. */
const base64 = /[\w+-]{8,}/g;
const address = /[\w.+-]@[\w-]+\.[a-z]/i;

/** Whether a string contains a base64-encoded address, possibly after up to three unrelated characters. */
const encodesAddress = (text: string): boolean =>
  [0, 1, 2, 3].some((from) => address.test(Buffer.from(text.slice(from), 'base64').toString('latin1')));

/** Matches @, including when it is percent-encoded one or more times. */
const atSign = /@|%(?:25)*40/i;

/**
 * Returns a function that replaces each part of a string that contains an @ with `(hidden 1)`, `(hidden 2)` and so on.
 * Equal parts get the same number, so that different rows stay distinct.
 */
export const createAddressMasker = () => {
  const hidden = new Map<string, string>();
  return (original: string): string => {
    const text = original
      .replace(otherForms, '@')
      .replace(base64, (part) => (encodesAddress(part) ? `@${part}` : part));
    if (!atSign.test(text)) return original;
    return text
      .split(separators)
      .map((part) => {
        if (!atSign.test(part)) return part;
        const name = hidden.get(part) ?? `(hidden ${hidden.size + 1})`;
        hidden.set(part, name);
        return name;
      })
      .join('');
  };
};

/** Returns a copy of a response without addresses. */
export const withoutAddresses = <Result extends object>(result: Result): Result => {
  const hide = createAddressMasker();
  return JSON.parse(JSON.stringify(result), (_, value: unknown) => (typeof value === 'string' ? hide(value) : value));
};
