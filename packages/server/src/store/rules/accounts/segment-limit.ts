import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../../shared/refusal.ts';

/** Throws a Refusal when an account that has so many segments may not add one. */
export const checkRoomForSegment = (segments: number): void => {
  const most = limits.segmentsPerAccount;
  if (segments < most) return;
  throw new Refusal('invalid_field', {
    field: 'segmentName',
    message: `\`segmentName\` is new, and the account has ${most} segments already: delete one with deleteSegment`,
  });
};
