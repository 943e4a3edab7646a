/** The frame around every page: navigation, account menu, and overlays. */
import { useEffect } from 'preact/hooks';
import { hrefOf, pageName } from '../address.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Logo } from '../parts/logo.tsx';
import { Notices } from '../parts/notices.tsx';
import { SampleShopNotice } from '../parts/sample-shop.tsx';
import { account } from '../reading/account.ts';
import { session } from '../session.ts';
import { AccountMenu } from './account-menu.tsx';
import { findKey, keyTable, overlay } from './keys.ts';
import { Page, titleOf } from './page.tsx';
import { pages } from './pages.ts';
import { Palette } from './palette.tsx';
import { SecondaryLinks } from './secondary-links.tsx';

const Icon = ({ path }: { readonly path: string }) => (
  <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path
      d={path}
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
);

const closeOverlay = (): void => {
  overlay.value = undefined;
};

const Keys = () => (
  <Dialog title="Shortcuts" close={closeOverlay}>
    <dl class="keys">
      {keyTable().map(([keys, action]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{action}</dd>
        </div>
      ))}
    </dl>
    <p class="dialog-actions">
      <button type="button" onClick={closeOverlay}>
        Close
      </button>
    </p>
  </Dialog>
);

/** A separate component, so that opening an overlay does not re-render the page. */
const Overlay = () => {
  if (overlay.value === 'palette') return <Palette />;
  return overlay.value === 'keys' ? <Keys /> : null;
};

export const Frame = () => {
  const here = pageName.value;
  const { kind = 'viewer' } = session.value ?? {};
  const { accountName = '' } = account.value ?? {};
  useEffect(() => {
    document.title = `${titleOf(here)} · ${accountName} · Firsthand`;
  }, [here, accountName]);
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="side">
        <a class="brand" href={hrefOf('')}>
          <Logo size={26} />
          <span>Firsthand</span>
        </a>
        <AccountMenu />
        <button type="button" class="find" onClick={() => (overlay.value = 'palette')}>
          <span>Find…</span> <kbd>{findKey}</kbd>
        </button>
        <nav aria-label="Console">
          {pages.map(({ name, title, icon }) => (
            <a
              key={name}
              href={hrefOf(name)}
              aria-current={name === here || (name === 'people' && here === 'person') ? 'page' : undefined}
            >
              <Icon path={icon} />
              {title}
            </a>
          ))}
        </nav>
        <div class="side-foot">
          {kind === 'viewer' && <span class="badge badge-plain">Read-only</span>}
          <SecondaryLinks />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <SampleShopNotice />
        <Page />
      </main>
      <Notices />
      <Overlay />
    </>
  );
};
