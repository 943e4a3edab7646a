/** Decodes the part of a label behind `xn--` (RFC 3492 section 6.2). Undefined when it decodes to nothing that can be text. */
export const decodePunycode = (text: string): string | undefined => {
  const delimiter = text.lastIndexOf('-');
  const output = [...text.slice(0, Math.max(0, delimiter))];
  let codePoint = 128;
  let at = 0;
  let bias = 72;
  for (let next = delimiter + 1; next < text.length; ) {
    const before = at;
    let weight = 1;
    for (let k = 36; ; k += 36) {
      const digit = 'abcdefghijklmnopqrstuvwxyz0123456789'.indexOf(text[next] ?? ' ');
      next += 1;
      if (digit < 0) return undefined;
      at += digit * weight;
      const threshold = Math.min(26, Math.max(1, k - bias));
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const count = output.length + 1;
    bias = adapt(at - before, count, before === 0);
    codePoint += Math.floor(at / count);
    at %= count;
    if (codePoint > 0x10ffff) return undefined;
    output.splice(at, 0, String.fromCodePoint(codePoint));
    at += 1;
  }
  return output.join('');
};

/** RFC 3492 section 6.1. */
const adapt = (delta: number, count: number, isFirst: boolean): number => {
  let left = Math.floor(delta / (isFirst ? 700 : 2));
  left += Math.floor(left / count);
  let k = 0;
  for (; left > 455; k += 36) left = Math.floor(left / 35);
  return k + Math.floor((36 * left) / (left + 38));
};
