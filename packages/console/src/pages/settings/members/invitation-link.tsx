/** The link of a new invitation. It is shown only once. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { root } from '../../../address.ts';
import { Card } from '../../../parts/card.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { LoopbackWarning, Time } from '../../../parts/small.tsx';

export interface NewInvitation {
  readonly memberEmailaddress: string;
  readonly invitationCode: string;
  readonly expiresTime: string;
}

export const InvitationLink = ({
  invitation,
  close,
}: {
  readonly invitation: NewInvitation;
  readonly close: () => void;
}) => {
  const { memberEmailaddress, invitationCode, expiresTime } = invitation;
  const url = `${root}/console/join#code=${invitationCode}`;
  const container = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => container.current?.focus(), [invitationCode]);
  const tools = (
    <button type="button" onClick={close}>
      I’ve sent it
    </button>
  );
  return (
    <Card title={`Invitation for ${memberEmailaddress}`} class="new-token" tools={tools}>
      <div ref={container} tabIndex={-1}>
        <p>
          <strong>Send this link only to that person. It won’t be shown again.</strong> The person who opens the link
          chooses a password or creates a passkey. The link works until <Time time={expiresTime} form="long" />.
        </p>
        <LoopbackWarning />
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
