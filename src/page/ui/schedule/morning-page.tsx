/** What happened since the person was last here, as a page in the main column. */
import { useState } from 'react';
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { useActions, useHousehold } from '../context.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { ActivityList } from './activity-list.tsx';
import { isEmpty, type Report, useReport, useSummary } from './morning.tsx';
import { Receipts } from './receipts.tsx';
import './morning.css';

function Details({ report }: { report: Report }) {
  const { lines, attempts, byClients, idle, isCut, leftOut } = report;
  return (
    <>
      <Receipts attempts={byClients} named />
      {isEmpty(report) && <p className="query-quiet ink-3 text-3">{t`Nothing happened in the last 7 days.`}</p>}
      {lines.length > 0 && <ActivityList lines={lines} attempts={attempts} withFiles />}
      {isCut && lines.length > 0 && (
        <p className="ink-2">{t`You were away for longer. This is about the last 7 days.`}</p>
      )}
      {leftOut !== null && <p className="ink-2">{leftOut}</p>}
      {idle > 0 && (
        <p className="ink-2">
          {plural(idle, 'routine found nothing to do, free.', 'routines found nothing to do, free.')}
        </p>
      )}
    </>
  );
}

function Whole({ report, onClose }: { report: Report; onClose: () => void }) {
  const summary = useSummary(report);
  return (
    <>
      <PageHead title={t`While you were away`} onClose={onClose} />
      {!isEmpty(report) && <p className="ink-2">{summary}</p>}
      <Details report={report} />
      <p className="gap-4 above-3 flex wrap text-2">
        <Link href={PATHS.activity('runs')}>{t`Activity`}</Link>
        <Link href={PATHS.schedule()}>{t`Schedule`}</Link>
      </p>
    </>
  );
}

/** The whole report. Reading it puts it away; it stays at its address. */
export default function MorningPage() {
  const { go } = useRoute();
  const { runsReadTo, runsReadFrom } = useHousehold(({ settings }) => settings);
  // As it was when the page was opened: putting it away does not empty it.
  const [first] = useState({ runsReadTo, runsReadFrom });
  const news = useReport(first.runsReadTo);
  const before = useReport(first.runsReadFrom);
  const report = news !== null && isEmpty(news) ? before : news;
  const actions = useActions();
  const onClose = () => {
    if (report !== null && report.opened > runsReadTo)
      void actions.saveSettings({ runsReadFrom: report.since, runsReadTo: report.opened });
    go(PATHS.hearth);
  };
  return (
    <section
      className="chat shrinks column-wise narrow morning-page rows-top scroll gap-6 ruled-start"
      aria-label={t`While you were away`}
    >
      {report !== null && <Whole report={report} onClose={onClose} />}
    </section>
  );
}
