/**
 * Values that a broken client sends for every visitor: an unfilled placeholder, or an empty variable converted to text.
 * As userUUIDs, they would merge all those visitors into one person. Values too short for a userUUID, such as
 * `undefined`, fail the length check.
 */
const placeholders = [
  // One character repeated, with any number of hyphens and underscores.
  /^[-_]*(?:([^-_])(?:\1|[-_])*)?$/,
  // "undefinedundefined", "null-null-null-null"
  /^(?:(?:undefined|null|nan|none)[-_]?)+$/,
  /^not[-_]?authenticated$/,
];

/** Placeholders that are too short for a userUUID. */
const shortPlaceholders = /^(?:\[object \w+\]|true|false|(?:undefined|null|nan|none)|0+)$/;

/** Longer text is not checked: it is too long for a userUUID. */
const maxLength = 64;

/** Whether a broken client would send this userUUID for every visitor: `undefinedundefined`, all zeros, … */
export const isPlaceholderUserUUID = (userUUID: string): boolean => {
  const text = userUUID.toLowerCase();
  return text.length <= maxLength && placeholders.some((pattern) => pattern.test(text));
};

/** Unfilled variables of a template or tag manager, `{{id}}` and `${id}`, and a failed spreadsheet lookup. */
const unfilled = /^#n\/a$|\{\{[^{}]*\}\}|\$\{[^{}]*\}/;
const letterOrDigit = /[\p{L}\p{N}]/u;

/**
 * Whether a broken client would send this contactExternalID for every contact: `undefined`, `[object Object]`, zeros,
 * `{{id}}`, text without letters or digits, … Unlike in a userUUID, one repeated character such as `7` or `11` is a
 * real ID.
 */
export const isPlaceholder = (externalID: string): boolean => {
  const text = externalID.toLowerCase();
  if (unfilled.test(text) || !letterOrDigit.test(text)) return true;
  return (
    text.length <= maxLength && (shortPlaceholders.test(text) || placeholders.slice(1).some((form) => form.test(text)))
  );
};
