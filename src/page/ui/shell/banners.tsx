/** Notices and banners. */
import { createPortal } from 'react-dom';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { useActions, useHousehold, useLive, useRoost } from '../context.tsx';
import { CloseIcon } from '../design/icons.tsx';
import { useTopDialog } from '../design/keys.ts';
import { Banner } from '../parts/banner.tsx';
import { optional } from '../parts/part.tsx';
import { linkTrouble } from '../text/reasons.ts';
import './banners.css';

/**
 * Notices: in the flow of the page, or inside the dialog that is open above it. Errors stay until
 * they are dismissed.
 */
export function NoticeList() {
  const { notices } = useRoost();
  const list = useStore(notices.store, (state) => state.list);
  const dialog = useTopDialog();
  const noticeList = (
    <div className="notices" role="status" aria-live="polite">
      {list.map((notice) => (
        <div key={notice.id} className="notice gap-4 line text-3 ground-3 pad-3-5" data-tone={notice.tone}>
          <p className="break grow">{notice.text}</p>
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
  return dialog ? createPortal(noticeList, dialog) : noticeList;
}

const BudgetBanner = optional(() => import('../costs/budget-banner.tsx'));
const RestoreRecords = optional(() => import('../records/restore-records.tsx'));
const AskedRecords = optional(() => import('../records/record-approvals.tsx'));
const DemoTeam = optional(() => import('../models/demo-team.tsx'));
const StorageBanners = optional(() => import('../storage/storage-banners.tsx'));

/**
 * Problems that affect everything, with what to do: shown across the page until they are solved.
 */
export function Banners() {
  const actions = useActions();
  const link = useLive((state) => state.link);
  const begun = useHousehold((state) => state.roster.seats.size > 0);
  const lost = linkTrouble(link);
  const act =
    link.kind === 'elsewhere'
      ? { label: t`Get a separate sign-in`, run: () => void actions.takeOwnSignIn() }
      : { label: t`Try again`, run: () => void actions.reconnect() };
  return (
    <>
      <StorageBanners />
      <BudgetBanner />
      <RestoreRecords />
      <AskedRecords />
      {begun && <DemoTeam />}
      {lost && <Banner trouble={lost} tone="warn" {...(link.kind === 'live' ? {} : { act })} />}
    </>
  );
}
