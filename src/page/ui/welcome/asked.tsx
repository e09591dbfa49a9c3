/**
 * The page of a browser without a household: it can begin one, or join one from another device.
 */
import { useEffect, useRef, useState } from 'react';
import { t } from '../../language/t.ts';
import { livesThere } from '../../state/relay-info.ts';
import { useInfo } from '../context.tsx';
import { Begin } from './begin.tsx';
import { ComeBack } from './returning.tsx';
import '../devices/devices.css';
import './welcome.css';

const focusStart = () => document.querySelector<HTMLElement>('.big-button')?.focus();

const WHO = {
  own: {
    head: t`Your team is on this relay`,
    text: t`This browser has no copy of it.`,
    back: t`Restore it:`,
  },
  others: {
    head: t`This relay already has a team`,
    text: t`This browser has none yet.`,
    back: t`Is it yours?`,
  },
} as const;

/**
 * This browser has no team, and people live at its relay. Nothing begins before the person has
 * chosen what this browser is for.
 */
export default function AskedPage() {
  const [isOwn, setOwn] = useState(false);
  const who = WHO[useInfo(livesThere) ?? 'others'];
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), [isOwn]);
  return (
    <main className="welcome shrinks both-centred scroll stack" id="main">
      <div className="welcome-card">
        <h1 className="balanced" ref={head} tabIndex={-1}>
          {isOwn ? t`Your household` : who.head}
        </h1>
        {isOwn ? (
          <>
            <p className="welcome-lead above-5 pretty ink-2">{t`It shares the relay with the other one. Neither sees the other’s agents or messages.`}</p>
            <Begin onBegun={focusStart} beside />
            <button type="button" className="link-button" onClick={() => setOwn(false)}>{t`Back`}</button>
          </>
        ) : (
          <>
            <p className="welcome-lead above-5 pretty ink-2">{who.text}</p>
            <ComeBack lead={who.back} />
            <div className="devices-ways gap-4 cluster">
              <button type="button" className="ghost" onClick={() => setOwn(true)}>{t`Start my household`}</button>
            </div>
          </>
        )}
      </div>
    </main>
  );
}
