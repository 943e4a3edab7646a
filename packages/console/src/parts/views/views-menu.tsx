/** The saved views of the account, and what can be done with the page that is open: save it, or share it. */
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { mayChange } from '../../reading/account.ts';
import { useAnswer } from '../../reading/answer.ts';
import { hrefOfView, type View, viewHere } from '../../reading/views.ts';
import { act } from '../notices.tsx';
import { Problem } from '../small.tsx';
import { SaveView } from './saving.tsx';
import { Share } from './sharing.tsx';

const closeMenu = (event: Event): void => {
  (event.currentTarget as HTMLElement).closest('details')?.removeAttribute('open');
};

const deleteView = ({ viewName, viewPage, viewQuery }: View, after: () => void) =>
  act(() => api.deleteView({ viewName }), {
    done: `Deleted the view “${viewName}”.`,
    undo: () => api.createView({ viewName, viewPage, viewQuery }),
    after,
  });

const nameOfOpen = (views: readonly View[]): string => {
  const here = hrefOfView(viewHere());
  return views.find((view) => hrefOfView(view) === here)?.viewName ?? '';
};

export const ViewsMenu = () => {
  const { value, problem, again } = useAnswer('views', (signal) => api.listViews({}, { signal }));
  const [dialog, setDialog] = useState<'save' | 'share' | undefined>(undefined);
  const close = () => setDialog(undefined);
  const opener = (name: 'save' | 'share', text: string) => (
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
              <Problem text={problem} again={again} />
            </li>
          )}
          {views.map((view) => (
            <li key={view.viewName} class="views-menu-view">
              <a href={hrefOfView(view)} title={view.viewName} onClick={closeMenu}>
                {view.viewName}
              </a>
              {mayChange.value && (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Delete the view ${view.viewName}`}
                  onClick={() => deleteView(view, again)}
                >
                  ×
                </button>
              )}
            </li>
          ))}
          {value && views.length === 0 && <li class="soft">No view is saved yet</li>}
          {mayChange.value && opener('save', 'Save this view …')}
          {mayChange.value && opener('share', 'Share this view …')}
        </ul>
      </details>
      {dialog === 'save' && <SaveView taken={views.map(({ viewName }) => viewName)} saved={again} close={close} />}
      {dialog === 'share' && <Share viewName={nameOfOpen(views)} close={close} />}
    </>
  );
};
