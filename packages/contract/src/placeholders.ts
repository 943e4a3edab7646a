/**
 * Values that a broken client sends for all its visitors: a placeholder that was never filled in, or a variable that was
 * empty when it was turned into text. Accepting one as a userUUID would join all those visitors into one person.
 */
const placeholders = new Set([
  'undefined',
  'null',
  'none',
  'nil',
  'nan',
  'true',
  'false',
  'anonymous',
  'guest',
  'unknown',
  'useruuid',
  'user_uuid',
  'user-uuid',
  'your_user_uuid',
  'your-user-uuid',
  'objectobject',
  'object-object',
  'object_object',
  'notauthenticated',
  'not_authenticated',
  'not-authenticated',
]);

/** One repeated character, or none, with any number of hyphens and underscores. */
const isOneSymbol = /^[-_]*(?:([^-_])(?:\1|[-_])*)?$/u;
/** A repeated placeholder: "undefinedundefined", "null-null-null-null". */
const isRepeatedPlaceholder = /^(?:(?:undefined|null|nan|none)[-_]?)+$/;

/** Longer text is not checked here: it is too long for a userUUID and rejected for that. */
const mostLength = 1_000;

/** Whether a userUUID is one that a broken client sends for all its visitors: `undefined`, `[object Object]`, all zeros, … */
export const isSharedByMistake = (userUUID: string): boolean => {
  if (userUUID.length > mostLength) return false;
  const bare = userUUID.trim().toLowerCase();
  return placeholders.has(bare.replace(/[^\w-]/g, '')) || isOneSymbol.test(bare) || isRepeatedPlaceholder.test(bare);
};
