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

/** Whether a userUUID is one that a broken client sends for everybody: `undefined`, `[object Object]`, all zeros, … */
export const isSharedByMistake = (userUUID: string): boolean => {
  const bare = userUUID.trim().toLowerCase();
  if (placeholders.has(bare.replace(/[^\w-]/g, ''))) return true;
  const symbols = new Set(bare.replaceAll('-', '').replaceAll('_', ''));
  if (symbols.size <= 1) return true;
  // "undefinedundefined", "null-null-null-null": a placeholder said over and over is still a placeholder.
  return /^(?:(?:undefined|null|nan|none)[-_]?)+$/.test(bare);
};
