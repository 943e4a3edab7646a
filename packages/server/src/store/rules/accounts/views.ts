/** The limits of saved views and share links, and their refusals. */
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../../shared/refusal.ts';

/** Throws a Refusal when an account that has so many views may not add one. */
export const checkRoomForView = (views: number): void => {
  const most = limits.viewsPerAccount;
  if (views < most) return;
  throw new Refusal('invalid_field', {
    field: 'viewName',
    message: `\`viewName\` is new, and the account has ${most} views already: delete one with deleteView`,
  });
};

/** Throws a Refusal when an account with so many share links that have not ended may not add one. */
export const checkRoomForShareLink = (links: number): void => {
  const most = limits.shareLinksPerAccount;
  if (links < most) return;
  throw new Refusal('invalid_field', {
    field: 'shareName',
    message: `the account has ${most} share links already: revoke one with revokeShareLink`,
  });
};

export const unknownView = (): Refusal => new Refusal('unknown_view', { field: 'viewName' });
/** How long a session of the console is listed after it ended. */
export const listedMilliseconds = 86_400_000;

export const unknownShareLink = (): Refusal => new Refusal('unknown_share_link', { field: 'shareID' });
