/**
 * Values that a broken client sends for everybody: a placeholder that was never filled in, or a variable that was
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

/** One symbol over and over, or none at all, whatever hyphens there are. */
const isOneSymbol = /^[-_]*(?:([^-_])(?:\1|[-_])*)?$/u;
/** "undefinedundefined", "null-null-null-null": a placeholder said over and over is still a placeholder. */
const isRepeatedPlaceholder = /^(?:(?:undefined|null|nan|none)[-_]?)+$/;

/** Longer text is no userUUID, and is refused for that. */
const mostLength = 1_000;

/** Whether a userUUID is one that a broken client sends for everybody: `undefined`, `[object Object]`, all zeros, … */
export const isSharedByMistake = (userUUID: string): boolean => {
  if (userUUID.length > mostLength) return false;
  const bare = userUUID.trim().toLowerCase();
  return placeholders.has(bare.replace(/[^\w-]/g, '')) || isOneSymbol.test(bare) || isRepeatedPlaceholder.test(bare);
};
