import { useStore } from 'zustand';
import { useRoost } from '../context.tsx';
import { CloseIcon } from '../parts/icons.tsx';

/** Short notes, at the corner. Errors stay until they are dismissed. */
export function NoticeList() {
  const { notices } = useRoost();
  const list = useStore(notices.store, (state) => state.list);
  return (
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
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => notices.dismiss(notice.id)}>
            <CloseIcon />
          </button>
        </div>
      ))}
    </div>
  );
}
