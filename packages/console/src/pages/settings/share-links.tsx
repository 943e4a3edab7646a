/** The account's share links. */
import type { ResponseFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { toFile } from '../../parts/csv.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { act } from '../../parts/notices.tsx';
import { SaveFile } from '../../parts/save-csv.tsx';
import { Badge, EmptyState, RelativeTime } from '../../parts/small.tsx';
import { Table } from '../../parts/table.tsx';
import { account, canEdit } from '../../reading/account.ts';
import { nameOfMember } from '../../reading/member-names.ts';
import { useFetch } from '../../reading/use-fetch.ts';
import { LastUsed } from './last-used.tsx';
import { nameOfActor } from './token-list.ts';

type ShareLink = ResponseFor<'listShareLinks'>['shareLink'][number];

const pageNames: Readonly<Record<ShareLink['viewPage'], string>> = { overview: 'Overview', events: 'Events' };

const creatorOf = ({ memberID, createdBy }: ShareLink): string =>
  memberID === undefined ? nameOfActor(createdBy, account.value?.token ?? []) : (nameOfMember(memberID) ?? 'a member');

interface RevokeProps {
  readonly link: ShareLink;
  readonly refresh: () => void;
}

const RevokeShareLink = ({ link: { shareID, shareName }, refresh }: RevokeProps) => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const revoke = () => {
    close();
    return act(() => api.revokeShareLink({ shareID }), { done: `Revoked the link to “${shareName}”.`, refresh });
  };
  return (
    <>
      <button type="button" class="quiet" aria-label={`Revoke the link to ${shareName}`} onClick={() => setOpen(true)}>
        Revoke
      </button>
      {isOpen && (
        <Dialog title={`Revoke the link to “${shareName}”?`} close={close}>
          <p>
            The link will stop working. <strong>This cannot be undone.</strong>
          </p>
          <p class="dialog-actions">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="danger" onClick={revoke}>
              Revoke link
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
};

const fileOf = (links: readonly ShareLink[]) =>
  toFile(
    ['name', 'page', 'created by', 'created', 'expires', 'last used'],
    links.map((link) => [
      link.shareName,
      pageNames[link.viewPage],
      creatorOf(link),
      link.createdTime,
      link.expiresTime,
      link.lastUsedTime,
    ]),
  );

const Links = () => {
  const response = useFetch('share links', (signal) => api.listShareLinks({}, { signal }));
  const links = response.value?.shareLink;
  const rowOf = (link: ShareLink) => ({
    key: link.shareID,
    cells: [
      link.shareName,
      pageNames[link.viewPage],
      creatorOf(link),
      Date.parse(link.expiresTime) > Date.now() ? (
        <RelativeTime key="ends" time={link.expiresTime} />
      ) : (
        <Badge key="ends">expired</Badge>
      ),
      <LastUsed key="used" item={link} />,
      <RevokeShareLink key="revoke" link={link} refresh={response.reload} />,
    ],
  });
  return (
    <Card
      title={`Share links${links ? ` · ${links.length}` : ''}`}
      tools={links && <SaveFile title="Share links" read={() => fileOf(links)} />}
      class="list"
    >
      <ResponseView response={response} lines={4}>
        {({ shareLink }) =>
          shareLink.length === 0 ? (
            <EmptyState title="No share links">
              <p class="soft">To create one, choose Views › Share this view on Overview or Events.</p>
            </EmptyState>
          ) : (
            <Table
              label="Share links"
              headers={['Name', 'Page', 'Created by', 'Expires', 'Last used', '']}
              rows={shareLink.map(rowOf)}
            />
          )
        }
      </ResponseView>
    </Card>
  );
};

export const ShareLinks = () =>
  canEdit.value ? (
    <Links />
  ) : (
    <Card title="Share links">
      <EmptyState title="Only editors and owners can see share links" />
    </Card>
  );
