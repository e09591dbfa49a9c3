/** Notices and banners. */
import { createPortal } from 'react-dom';
import { useStore } from 'zustand';
import { Link } from 'wouter';
import type { StorageProblem } from '../../../shared/protocol/worker.ts';
import { t } from '../../language/t.ts';
import { useActions, useHousehold, useInfo, useLive, useRoost, useUpkeep } from '../context.tsx';
import { CloseIcon, WarnIcon } from '../design/icons.tsx';
import { useTopDialog } from '../design/keys.ts';
import { optional } from '../parts/part.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { linkTrouble, storageTrouble, type Trouble } from '../text/reasons.ts';
import './banners.css';

/**
 * Notices: in the flow of the page, or inside the dialog that is open above it. Errors stay until
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

const BudgetBanner = optional(() => import('../costs/budget-banner.tsx'));
const RestoreRecords = optional(() => import('../records/restore-records.tsx'));
const AskedRecords = optional(() => import('../records/asked.tsx'));
const DemoTeam = optional(() => import('../models/demo-team.tsx'));
const RoomBanner = optional(() => import('../storage/room-banner.tsx'));

function Banner({
  trouble,
  tone,
  act,
}: {
  trouble: Trouble;
  tone: 'danger' | 'warn';
  act?: { label: string; run: () => void };
}) {
  return (
    <div className="banner" data-tone={tone} role="alert">
      <WarnIcon />
      <p>
        <strong>{trouble.title}.</strong> {trouble.advice}
      </p>
      {act && (
        <button type="button" className="ghost" onClick={act.run}>
          {act.label}
        </button>
      )}
    </div>
  );
}

/** A storage problem, with help beyond its own text. */
function StorageBanner({ problem }: { problem: StorageProblem }) {
  const { route, go } = useRoute();
  const trouble = storageTrouble(problem);
  switch (problem.kind) {
    case 'quota':
    case 'damaged': {
      const tone = problem.kind === 'quota' ? 'danger' : 'warn';
      const there = route.kind === 'settings' && route.section === 'storage';
      return (
        <Banner
          trouble={trouble}
          tone={tone}
          {...(there ? {} : { act: { label: t`Show the storage`, run: () => go(PATHS.settings('storage')) } })}
        />
      );
    }
    case 'unsupported':
      return <Banner trouble={trouble} tone="danger" />;
    case 'broken':
    case 'unreadable':
    case 'blocked':
    case 'no-owner':
      return <Banner trouble={trouble} tone="danger" act={{ label: t`Reload`, run: () => location.reload() }} />;
    default:
      return problem.kind satisfies never;
  }
}

/** A rebuild concerns every tab and is shown in each. */
function Rebuilding() {
  const progress = useUpkeep((state) => state.progress);
  const { route } = useRoute();
  if (progress?.task !== 'rebuild' || (route.kind === 'settings' && route.section === 'storage')) return null;
  const { done, of } = progress;
  return (
    <p className="banner banner-quiet">
      <span>{t`What is stored here is being rebuilt${of > 0 ? `: ${Math.min(100, Math.floor((done / of) * 100))} %` : '…'} You can go on meanwhile.`}</span>
      <Link href={PATHS.settings('storage')}>{t`Show`}</Link>
    </p>
  );
}

/** The storage page shows it itself. Without a connection it cannot be requested. */
function RelayRoom() {
  const isLive = useLive((state) => state.link.kind === 'live');
  const { route } = useRoute();
  return isLive && !(route.kind === 'settings' && route.section === 'storage') ? <RoomBanner /> : null;
}

/**
 * Problems that affect everything, with what to do: shown across the page until they are solved.
 */
export function Banners() {
  const actions = useActions();
  const link = useLive((state) => state.link);
  const problem = useInfo((state) => state.problem);
  const begun = useHousehold((state) => state.roster.seats.size > 0);
  const lost = linkTrouble(link);
  const act =
    link.kind === 'elsewhere'
      ? { label: t`Take a sign-in of its own`, run: () => void actions.takeOwnSignIn() }
      : { label: t`Try now`, run: () => void actions.reconnect() };
  return (
    <>
      {problem && <StorageBanner problem={problem} />}
      <Rebuilding />
      <BudgetBanner />
      <RestoreRecords />
      <AskedRecords />
      <RelayRoom />
      {begun && <DemoTeam />}
      {lost && <Banner trouble={lost} tone="warn" {...(link.kind === 'live' ? {} : { act })} />}
    </>
  );
}
