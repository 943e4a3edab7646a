/** The link for a new invitation. It is shown only once. */
import { root } from '../../../address.ts';
import { SecretCard } from '../../../parts/secret-card.tsx';
import { Time } from '../../../parts/small.tsx';

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
  return (
    <SecretCard title={`Invitation for ${memberEmailaddress}`} secret={url} done="I’ve sent it" close={close}>
      <p>
        <strong>Send this link only to that person. It won’t be shown again.</strong> The person who opens the link
        chooses a password or creates a passkey. The link works until <Time time={expiresTime} form="long" />.
      </p>
    </SecretCard>
  );
};
