/** The link of an invitation that was just made. It is shown only here. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { root } from '../../../address.ts';
import { Card } from '../../../parts/card.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { At, OnThisMachineOnly } from '../../../parts/small.tsx';

export interface Invited {
  readonly memberEmailaddress: string;
  readonly invitationCode: string;
  readonly expiresTime: string;
}

export const InvitationLink = ({ invited, close }: { readonly invited: Invited; readonly close: () => void }) => {
  const { memberEmailaddress, invitationCode, expiresTime } = invited;
  const url = `${root}/console/join#code=${invitationCode}`;
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.focus(), [invitationCode]);
  const tools = (
    <button type="button" onClick={close}>
      I have sent it
    </button>
  );
  return (
    <Card title={`The invitation of ${memberEmailaddress}`} class="new-token" tools={tools}>
      <div ref={place} tabIndex={-1}>
        <p>
          <strong>Send this link to that person only: it is shown this once.</strong> The person who opens it chooses a
          password or makes a passkey. It works until <At time={expiresTime} form="long" />.
        </p>
        <OnThisMachineOnly />
        <div class="tag">
          <pre>
            <code>{url}</code>
          </pre>
          <CopyButton text={url} />
        </div>
      </div>
    </Card>
  );
};
