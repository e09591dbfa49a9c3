import { createPortal } from 'react-dom';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { CloseIcon } from '../parts/icons.tsx';
import { useTopDialog } from '../parts/top-dialog.ts';

/**
 * Short notes: in the flow of the page, or of the dialog that is open over it. Errors stay until
 * they are dismissed.
 */
export function NoticeList() {
  const { notices } = useRoost();
  const list = useStore(notices.store, (state) => state.list);
  const dialog = useTopDialog();
  const told = (
    <div className="notices" role="status" aria-live="polite">
      {list.map((notice) => (
        <div key={notice.id} className="notice" data-tone={notice.tone}>
          <p>{notice.text}</p>
          {notice.action && (
            <button
              type="button"
              className="link-button"
              onClick={() => {
                notice.action?.run();
                notices.dismiss(notice.id);
              }}
            >
              {notice.action.label}
            </button>
          )}
          <button
            type="button"
            className="icon-button"
            aria-label={t`Dismiss`}
            onClick={() => notices.dismiss(notice.id)}
          >
            <CloseIcon />
          </button>
        </div>
      ))}
    </div>
  );
  return dialog ? createPortal(told, dialog) : told;
}
