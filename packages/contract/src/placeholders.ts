/**
 * Values that a broken client sends for all its visitors: a placeholder that was never filled in, or a variable that was
 * empty when it was turned into text. Accepting one as a userUUID would join all those visitors into one person. Those that are too
 * short for a userUUID, such as `undefined` and `[object Object]`, are rejected for that.
 */
const placeholders = [
  // One repeated character, or none, with any number of hyphens and underscores.
  /^[-_]*(?:([^-_])(?:\1|[-_])*)?$/,
  // "undefinedundefined", "null-null-null-null"
  /^(?:(?:undefined|null|nan|none)[-_]?)+$/,
  /^not[-_]?authenticated$/,
];

/** Texts that other placeholders turn into; none of them is long enough for a userUUID. */
const shortPlaceholders = /^(?:\[object \w+\]|true|false|(?:undefined|null|nan|none)|0+)$/;

/** Longer text is not checked here: it is too long for a userUUID and rejected for that. */
const maxLength = 64;

/** Whether a userUUID is one that a broken client sends for all its visitors: `undefinedundefined`, all zeros, … */
export const isSharedByMistake = (userUUID: string): boolean => {
  const text = userUUID.toLowerCase();
  return text.length <= maxLength && placeholders.some((pattern) => pattern.test(text));
};

/** Texts that a template or tag manager did not fill in, `{{id}}` and `${id}`, and the empty look-up of a spreadsheet. */
const unfilled = /^#n\/a$|\{\{[^{}]*\}\}|\$\{[^{}]*\}/;
const letterOrDigit = /[\p{L}\p{N}]/u;

/**
 * Whether a contactExternalID is one that a broken client sends for all its contacts: `undefined`, `null`, `[object Object]`, zeros,
 * `{{id}}`, a text without letters and digits, … Unlike in a userUUID, one repeated character such as `7` or `11` is a real ID.
 */
export const isPlaceholder = (externalID: string): boolean => {
  const text = externalID.toLowerCase();
  if (unfilled.test(text) || !letterOrDigit.test(text)) return true;
  return (
    text.length <= maxLength && (shortPlaceholders.test(text) || placeholders.slice(1).some((form) => form.test(text)))
  );
};
