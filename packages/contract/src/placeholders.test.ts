import { expect, test } from 'vitest';
import { isPlaceholder, isPlaceholderUserUUID } from './placeholders.ts';

test.each([
  'undefinedundefined',
  'Null-null_null-null',
  '00000000-0000-0000-0000-000000000000',
  '----------------',
  'aAaAaAaAaAaAaAaA',
  'not_authenticated',
  'NotAuthenticated',
])('recognizes a userUUID that a broken client sends for every visitor: %s', (userUUID) => {
  expect(isPlaceholderUserUUID(userUUID)).toBe(true);
});

test.each(['undefinedundefined1', '0000000000000001', 'null-and-void-null', 'notauthenticated2'])(
  'accepts the userUUID of a single visitor: %s',
  (userUUID) => {
    expect(isPlaceholderUserUUID(userUUID)).toBe(false);
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
])('recognizes an external ID that a broken client sends for every contact: %s', (externalID) => {
  expect(isPlaceholder(externalID)).toBe(true);
});

test.each(['7', '11', 'aaaa', '0007', 'nulla', 'trueman', 'undefined-7', '-7', '#7', '{7}', '$7', 'ñ', '客', '٣'])(
  'accepts the external ID of a single contact: %s',
  (externalID) => {
    expect(isPlaceholder(externalID)).toBe(false);
  },
);
