import { describe, expect, it } from 'vitest';
import { createAddressMasker, withoutAddresses } from './hidden-addresses.ts';

describe('an e-mail address', () => {
  it.each([
    ['ann@shop.example', '(hidden 1)'],
    ['/people/ann@shop.example/orders', '/people/(hidden 1)/orders'],
    ['/search?q=ann%40shop.example&page=2', '/search?q=(hidden 1)&page=2'],
    ['/search?q=ann%2540shop.example', '/search?q=(hidden 1)'],
    ['Ann <ann@shop.example>', 'Ann <(hidden 1)>'],
    ['ann@shop.example, ben@shop.example, ann@shop.example', '(hidden 1), (hidden 2), (hidden 1)'],
    ['/@ann', '/(hidden 1)'],
    ['“ännchen”@exämple.de', '(hidden 1)'],
    ["o'brien@shop.example", '(hidden 1)'],
    ['ann＠shop.example', '(hidden 1)'],
    ['/q=ann%EF%BC%A0shop.example&b=1', '/q=(hidden 1)&b=1'],
    ['/q=ann%25u0040shop.example', '/q=(hidden 1)'],
    ['<b>ann&#64;shop.example</b>', '<b>(hidden 1)</b>'],
    ['ann&#x0040;shop.example ann&commat;shop.example', '(hidden 1) (hidden 1)'],
    ['{"mail":"ann\\u0040shop.example"}', '{"mail":"(hidden 1)"}'],
    ['&#640; %2025 \\u0041', '&#640; %2025 \\u0041'],
    ['ann=40shop.example', '(hidden 1)'],
    ['ann\\x40shop.example ann\\u{40}shop.example', '(hidden 1) (hidden 1)'],
    ['/u/YW5uQHNob3AuZXhhbXBsZQ==/orders', '/u/(hidden 1)==/orders'],
    ['/u?id=YW5uQHNob3AuZXhhbXBsZQ&page=2', '/u?id=(hidden 1)&page=2'],
    ['/u?id=u1.eyJtYWlsIjoiYW5uQHNob3AuZXhhbXBsZSJ9.abc', '/u?id=(hidden 1)'],
    ['/products/blue-teapot-with-lid?page=40&width=40px', '/products/blue-teapot-with-lid?page=40&width=40px'],
    ['/40%25off', '/40%25off'],
    ['2026-11-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
  ])('is hidden in %s', (text, shown) => {
    expect(createAddressMasker()(text)).toBe(shown);
  });

  it('is replaced by the same placeholder everywhere in a response', () => {
    const row = [
      { values: ['/a@b.example', null], people: 3 },
      { values: ['/c@d.example', 'a@b.example'], people: 2 },
    ];
    expect(withoutAddresses({ row })).toEqual({
      row: [
        { values: ['/(hidden 1)', null], people: 3 },
        { values: ['/(hidden 2)', '(hidden 1)'], people: 2 },
      ],
    });
  });
});
