import { describe, expect, it } from 'vitest';
import { createProof, toProofKey } from '../../test/fixtures/proof.ts';
import { isProof } from './proof.ts';

const key = toProofKey('server_secret');
const proven = { browserToken: 'browser_public', address: 'ada@example.com', userUUID: 'user_aaaaaaaaaaaaaaaa' };
const seconds = 1_772_000_000;
const proof = createProof(proven, key, seconds);
const at = (later: number) => (seconds + later) * 1_000;

describe('a contactProof', () => {
  it.each([
    ['is valid immediately', proof, 0, true],
    ['is valid in uppercase', proof.toUpperCase(), 0, true],
    ['is valid for 10 minutes', proof, 600, true],
    ['is invalid later', proof, 601, false],
    ['is valid with a clock 5 minutes behind', proof, -300, true],
    ['is invalid with a clock further behind', proof, -301, false],
    ['is invalid if its time is changed by a second', proof.replace('1772000000', '1772000001'), 0, false],
    ['is invalid if truncated', proof.slice(0, -1), 0, false],
    ['is invalid with a suffix', `${proof}0`, 0, false],
    ['is invalid if empty', '', 0, false],
    ['is invalid without its HMAC', '1772000000.', 0, false],
  ])('%s', (_, text, later, valid) => {
    expect(isProof(text, proven, [key], at(later))).toBe(valid);
  });

  it.each([
    ['another address', { ...proven, address: 'eve@example.com' }],
    ['another user', { ...proven, userUUID: 'user_bbbbbbbbbbbbbbbb' }],
    ['another token', { ...proven, browserToken: 'browser_other' }],
  ])('does not prove %s', (_, other) => {
    expect(isProof(proof, other, [key], at(0))).toBe(false);
  });

  it('proves an external ID if there is no address, but never one that equals a proven address', () => {
    const { address: _, ...user } = proven;
    const ofID = { ...user, externalID: 'ada@example.com' };
    const proofOfID = createProof(ofID, key, seconds);
    expect(isProof(proofOfID, ofID, [key], at(0))).toBe(true);
    expect(isProof(proofOfID, proven, [key], at(0))).toBe(false);
    expect(isProof(proof, ofID, [key], at(0))).toBe(false);
    expect(isProof(proof, { ...proven, externalID: 'customer-1042' }, [key], at(0))).toBe(true);
    expect(isProof(proofOfID, { ...ofID, externalID: 'ada@example.org' }, [key], at(0))).toBe(false);
    for (const externalID of ['externalID', 'externalID\nx'])
      expect(isProof(proofOfID, { ...user, externalID }, [key], at(0))).toBe(false);
  });

  it('can be created only with a live server token', () => {
    expect(isProof(proof, proven, [toProofKey('server_newer'), key], at(0))).toBe(true);
    expect(isProof(proof, proven, [toProofKey('server_newer')], at(0))).toBe(false);
    expect(isProof(proof, proven, [], at(0))).toBe(false);
  });
});
