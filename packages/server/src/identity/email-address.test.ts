import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from './email-address.ts';

describe('parseAddress', () => {
  test.each([
    ['does not change a canonical address', 'ann@example.com', 'ann@example.com'],
    ['trims white space', ' \t\r\n\u00a0\ufeffann@example.com\u2003\n', 'ann@example.com'],
    ['lowercases both parts', 'Ann.Lee@Example.COM', 'ann.lee@example.com'],
    ['keeps dots and plus signs', 'a.n.n+news@gmail.com', 'a.n.n+news@gmail.com'],
    ['keeps every printable ASCII character of an atom', "!#$%&'*+-/=?^_`{|}~@a.b", "!#$%&'*+-/=?^_`{|}~@a.b"],
    ['composes a decomposed letter', 'jose\u0301@example.com', 'jos\u00e9@example.com'],
    ['composes letters that lowercasing decomposes', 'J\u030c@example.com', '\u01f0@example.com'],
    ['keeps a local part in another script', '用户@example.com', '用户@example.com'],
    ['keeps an emoji', '🙂@example.com', '🙂@example.com'],
    ['converts an international domain to ASCII', 'ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
    ['keeps sharp s distinct', 'ann@faß.de', 'ann@xn--fa-hia.de'],
    ['keeps capital sharp s distinct', 'ann@FAẞ.de', 'ann@xn--fa-hia.de'],
    ['keeps a domain that is already in ASCII', 'ann@xn--bcher-kva.example', 'ann@xn--bcher-kva.example'],
    ['treats an ideographic full stop as a dot', 'ann@example。com', 'ann@example.com'],
    ['converts full-width letters', 'ann@ｅｘａｍｐｌｅ.com', 'ann@example.com'],
    ['removes a soft hyphen from the domain', 'ann@exam\u00adple.com', 'ann@example.com'],
    ['accepts digits and inner hyphens in the domain', 'ann@3-2.1a', 'ann@3-2.1a'],
    ['accepts the shortest address', 'a@b.c', 'a@b.c'],
  ])('%s', (_, text, address) => {
    expect(parseAddress(text)).toBe(address);
  });
});

const label63 = 'd'.repeat(63);

describe('the maximum length', () => {
  test.each<[string, string, boolean]>([
    ['allows a local part of 64 bytes', `${'a'.repeat(64)}@b.com`, true],
    ['does not allow 65 bytes', `${'a'.repeat(65)}@b.com`, false],
    ['counts bytes, not characters', `${'é'.repeat(32)}@b.com`, true],
    ['does not allow 33 two-byte letters', `${'é'.repeat(33)}@b.com`, false],
    ['counts bytes after composition', `${'e\u0301'.repeat(32)}@b.com`, true],
    ['counts a letter that grows when lowercased', `${'İ'.repeat(22)}@b.com`, false],
    ['allows a label of 63 bytes', `a@${label63}.com`, true],
    ['does not allow a label of 64 bytes', `a@d${label63}.com`, false],
    ['allows 254 bytes in total', `${'a'.repeat(62)}@${label63}.${label63}.${'d'.repeat(61)}.c`, true],
    ['does not allow 255 bytes in total', `${'a'.repeat(63)}@${label63}.${label63}.${'d'.repeat(61)}.c`, false],
    ['counts an international domain in ASCII', `a@${'ü'.repeat(60)}.com`, false],
  ])('%s', (_, text, taken) => {
    expect(parseAddress(text) !== undefined).toBe(taken);
  });
});

describe('parseAddress', () => {
  test.each([
    ['an empty string', ''],
    ['white space', ' \n'],
    ['no @', 'ann.example.com'],
    ['an @ alone', '@'],
    ['no local part', '@example.com'],
    ['no domain', 'ann@'],
    ['two @', 'ann@lee@example.com'],
    ['two @ in a row', 'ann@@example.com'],
    ['a quoted local part', '"ann"@example.com'],
    ['a quoted @', '"a@b"@example.com'],
    ['a display name', 'Ann <ann@example.com>'],
    ['a comment', 'ann(lee)@example.com'],
    ['two addresses', 'ann@example.com,bob@example.com'],
    ['two addresses with a semicolon', 'ann@example.com; bob@example.com'],
    ['mailto:', 'mailto:ann@example.com'],
    ['a backslash', 'a\\nn@example.com'],
    ['square brackets', 'a[n]n@example.com'],
    ['a leading dot', '.ann@example.com'],
    ['a trailing dot', 'ann.@example.com'],
    ['two dots in a row', 'an..n@example.com'],
    ['a space in the local part', 'an n@example.com'],
    ['a space next to the @', 'ann @example.com'],
    ['an ideographic space', 'an\u3000n@example.com'],
    ['NUL', 'an\u0000n@example.com'],
    ['a line break', 'an\r\nn@example.com'],
    ['DEL', 'an\u007fn@example.com'],
    ['a C1 control', 'an\u0085n@example.com'],
    ['a zero-width space in the local part', 'an\u200bn@example.com'],
    ['a text direction override', '\u202eann@example.com'],
    ['a lone high surrogate', 'an\ud800n@example.com'],
    ['a lone low surrogate', 'an\udc00n@example.com'],
    ['a lone surrogate in the domain', 'ann@ex\ud800ample.com'],
    ['a character that NFC turns into a semicolon', 'an\u037en@example.com'],
    ['a single label', 'ann@localhost'],
    ['a dot at the end of the domain', 'ann@example.com.'],
    ['a dot at the start of the domain', 'ann@.example.com'],
    ['two dots in a row in the domain', 'ann@example..com'],
    ['a label that begins with a hyphen', 'ann@-example.com'],
    ['a label that ends with a hyphen', 'ann@example-.com'],
    ['a last label that ends with a hyphen', 'ann@example.com-'],
    ['an underscore in the domain', 'ann@exam_ple.com'],
    ['a number, which URLs treat as IPv4', 'ann@1'],
    ['hexadecimal, which URLs treat as IPv4', 'ann@0x7f.1'],
    ['an IPv4 address', 'ann@127.0.0.1'],
    ['a number in full-width digits', 'ann@１２７.０.０.１'],
    ['a last label of digits', 'ann@example.123'],
    ['an address literal', 'ann@[127.0.0.1]'],
    ['an IPv6 literal', 'ann@[::1]'],
    ['a percent-escape', 'ann@ex%61mple.com'],
    ['a full-width percent-escape', 'ann@ex％61mple.com'],
    ['userinfo in the domain', 'ann@user:secret@example.com'],
    ['a full-width @ in the domain', 'ann@user＠example.com'],
    ['a port', 'ann@example.com:25'],
    ['a path', 'ann@example.com/x'],
    ['a full-width slash', 'ann@example.com／x'],
    ['a query', 'ann@example.com?x'],
    ['a fragment', 'ann@example.com#x'],
    ['a backslash in the domain', 'ann@example.com\\x'],
    ['a tab in the domain, which URLs drop', 'ann@exam\tple.com'],
    ['a space in the domain', 'ann@exam ple.com'],
    ['punycode that decodes to nothing', 'ann@xn--.com'],
    ['punycode that decodes to plain ASCII', 'ann@xn--a.com'],
  ])('rejects %s', (_, text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

// Mostly parts of e-mail addresses, and often characters that break parsers.
const nasty = fc.constantFrom(
  ...['@', '.', '-', 'a', 'Z', '7', '0x', 'xn--', '+', '%', '[', ':', '/', ' ', '\t', '\u00ad', '\u200d', '\u0301'],
  ...['Σ', 'ς', 'İ', 'ẞ', 'K', 'ǅ', '\u0345', 'ü', '用', '。', '．', '＠', '１', '🙂', '\ud800', '\u037e', '\u1fef'],
);
/** Any code point. fast-check's own arbitrary for code points spends 0.9 s per process on a table. */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));
const anyText = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString'),
  fc.string({ unit: anyCharacter }),
  fc.array(nasty, { maxLength: 20 }).map((parts) => parts.join('')),
  fc.tuple(fc.string({ unit: anyCharacter, minLength: 1 }), fc.constant('@example.com')).map((parts) => parts.join('')),
  fc
    .tuple(fc.constant('a@'), fc.string({ unit: anyCharacter, minLength: 1 }), fc.constant('.com'))
    .map((parts) => parts.join('')),
  fc.tuple(fc.array(nasty), fc.array(nasty)).map(([a, b]) => `a${a.join('')}@b${b.join('')}.com`),
  fc.emailAddress(),
);

describe('parseAddress, for any string,', () => {
  test('returns a form that parses to itself', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const address = parseAddress(text);
        if (address !== undefined) expect(parseAddress(address)).toBe(address);
      }),
      { numRuns: 5000 },
    );
  });

  test('returns a single line of legal length, lowercase and composed, with one @ and an ASCII domain', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const address = parseAddress(text);
        if (address === undefined) return;
        expect(address).toBe(address.toLowerCase());
        expect(address).toBe(address.normalize('NFC'));
        expect(address).toMatch(/^[^@\s]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/);
        expect(new TextEncoder().encode(address).length).toBeLessThanOrEqual(254);
      }),
      { numRuns: 5000 },
    );
  });

  test('ignores surrounding white space and the case of ASCII letters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const upper = text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
        expect(parseAddress(`\n ${upper}\u00a0`)).toBe(parseAddress(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('accepts ordinary addresses', () => {
    fc.assert(
      fc.property(fc.emailAddress({ size: 'small' }), (text) => {
        expect(parseAddress(text)).toBe(text.toLowerCase());
      }),
    );
  });
});
