import type { ScheduleId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { Words } from '../chat/words.tsx';
import { OlderButton } from '../inbox/inbox.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { useNow } from '../use-now.ts';
import { GoOn } from './go-on.tsx';
import { momentText, outcomeText, spentText, toneOf } from './words.ts';
import { retold } from '../../language/retold.ts';

/** What became of each moment at which something was due, the newest first. */
export function History({ scheduleId }: { scheduleId: ScheduleId }) {
  const query = schedulesOf(useRoost()).history(scheduleId);
  const now = useNow();
  return (
    <QueryView query={query} what={t`The history`}>
      {({ rows, more }) =>
        rows.length === 0 ? (
          <p className="query-quiet">{t`It was not due yet.`}</p>
        ) : (
          <>
            <ol className="history" aria-label={t`History`}>
              {rows.map((one) => {
                const spent = spentText(one);
                return (
                  <li key={`${one.dueAt}`} data-tone={toneOf(one)}>
                    <p className="history-line">
                      <i className="tone-mark" aria-hidden="true" />
                      <time dateTime={new Date(one.dueAt).toISOString()}>{momentText(one.dueAt, now)}</time>
                      <b>{outcomeText(one)}</b>
                      {one.late && <span>{t`made up for late`}</span>}
                      {spent !== '' && <span>{spent}</span>}
                      <GoOn run={one} />
                    </p>
                    {one.detail !== null &&
                      (one.kind === 'script' || (toneOf(one) !== 'good' && toneOf(one) !== 'quiet')) && (
                        <p className="history-detail">{retold(one.detail)}</p>
                      )}
                    {one.said !== null && one.said !== '' && (
                      <div className="history-said">
                        <Words text={one.said} />
                      </div>
                    )}
                  </li>
                );
              })}
            </ol>
            {more && <OlderButton paged={query} label={t`Older ones`} />}
          </>
        )
      }
    </QueryView>
  );
}
