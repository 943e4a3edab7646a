/** The menu of saved views, with actions to save or share the current page. */
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { canEdit } from '../../reading/account.ts';
import { useFetch } from '../../reading/use-fetch.ts';
import { hrefOfView, readCurrentView, type View } from '../../reading/views.ts';
import { act } from '../notices.tsx';
import { Problem } from '../small.tsx';
import { SaveView } from './save-view.tsx';
import { ShareDialog } from './share-dialog.tsx';

const closeMenu = (event: Event): void => {
  (event.currentTarget as HTMLElement).closest('details')?.removeAttribute('open');
};

const deleteView = ({ viewName, viewPage, viewQuery }: View, refresh: () => void) =>
  act(() => api.deleteView({ viewName }), {
    done: `Deleted the view “${viewName}”.`,
    undo: () => api.createView({ viewName, viewPage, viewQuery }),
    refresh,
  });

const nameOfOpen = (views: readonly View[]): string => {
  const here = hrefOfView(readCurrentView());
  return views.find((view) => hrefOfView(view) === here)?.viewName ?? '';
};

interface DialogProps {
  /** The name of the current saved view; '' if the page is not a saved view. */
  readonly viewName: string;
  readonly close: () => void;
}

/** `MailDialog` creates a digest or an alert. Parts do not import it, because it belongs to a page. */
export const ViewsMenu = ({ MailDialog }: { readonly MailDialog: ComponentType<DialogProps> }) => {
  const { value, problem, reload } = useFetch('views', (signal) => api.listViews({}, { signal }));
  const [dialog, setDialog] = useState<'save' | 'share' | 'mail' | undefined>(undefined);
  const close = () => setDialog(undefined);
  const opener = (name: 'save' | 'share' | 'mail', text: string) => (
    <li>
      <button
        type="button"
        class="quiet"
        onClick={(event) => {
          closeMenu(event);
          setDialog(name);
        }}
      >
        {text}
      </button>
    </li>
  );
  const views = value?.view ?? [];
  return (
    <>
      <details class="menu views-menu">
        <summary>Views</summary>
        <ul>
          {problem !== undefined && (
            <li>
              <Problem text={problem} reload={reload} />
            </li>
          )}
          {views.map((view) => (
            <li key={view.viewName} class="views-menu-view">
              <a href={hrefOfView(view)} title={view.viewName} onClick={closeMenu}>
                {view.viewName}
              </a>
              {canEdit.value && (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Delete the view ${view.viewName}`}
                  onClick={() => deleteView(view, reload)}
                >
                  ×
                </button>
              )}
            </li>
          ))}
          {value && views.length === 0 && <li class="soft">No saved views yet</li>}
          {canEdit.value && opener('save', 'Save this view…')}
          {canEdit.value && opener('share', 'Share this view…')}
          {canEdit.value && opener('mail', 'Mail this view…')}
        </ul>
      </details>
      {dialog === 'save' && (
        <SaveView existingNames={views.map(({ viewName }) => viewName)} onSave={reload} close={close} />
      )}
      {dialog === 'share' && <ShareDialog viewName={nameOfOpen(views)} close={close} />}
      {dialog === 'mail' && <MailDialog viewName={nameOfOpen(views)} close={close} />}
    </>
  );
};
