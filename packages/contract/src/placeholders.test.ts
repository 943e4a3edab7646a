import { expect, test } from 'vitest';
import { isPlaceholder, isSharedByMistake } from './placeholders.ts';

test.each([
  'undefinedundefined',
  'Null-null_null-null',
  '00000000-0000-0000-0000-000000000000',
  '----------------',
  'aAaAaAaAaAaAaAaA',
  'not_authenticated',
  'NotAuthenticated',
])('a userUUID of all visitors is one of nobody: %s', (userUUID) => {
  expect(isSharedByMistake(userUUID)).toBe(true);
});

test.each(['undefinedundefined1', '0000000000000001', 'null-and-void-null', 'notauthenticated2'])(
  'a userUUID of one visitor is taken: %s',
  (userUUID) => {
    expect(isSharedByMistake(userUUID)).toBe(false);
  },
);

test.each([
  ...['undefined', 'NULL', 'NaN', '[object Object]', 'true', 'none', '000', 'undefined-undefined'],
  ...[
    '-',
    '_',
    '---',
    '?',
    '…',
    '\u200b',
    '{{id}}',
    '{{ user.id }}',
    'crm-{{id}}',
    `\${id}`,
    '#N/A',
    `{{${'x'.repeat(99)}}}`,
  ],
])('an external ID of all contacts is one of nobody: %s', (externalID) => {
  expect(isPlaceholder(externalID)).toBe(true);
});

test.each(['7', '11', 'aaaa', '0007', 'nulla', 'trueman', 'undefined-7', '-7', '#7', '{7}', '$7', 'ñ', '客', '٣'])(
  'an external ID of one contact is taken: %s',
  (externalID) => {
    expect(isPlaceholder(externalID)).toBe(false);
  },
);
