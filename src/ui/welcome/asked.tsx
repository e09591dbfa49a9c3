import { useEffect, useRef, useState } from 'react';
import { livesThere } from '../../state/relay-info.ts';
import { useInfo } from '../context.tsx';
import { Begin } from './begin.tsx';
import { ComeBack } from './come-back.tsx';
import { LookPage } from './look.tsx';
import '../devices/devices.css';
import './welcome.css';

const focusStart = () => document.querySelector<HTMLElement>('.big-button')?.focus();

const WHO = {
  own: {
    head: 'A team of yours lives at this relay',
    text: 'This browser has been here before, or shares its sign-in with one that has, and keeps nothing of that team. Nothing of it is deleted elsewhere.',
    back: 'Let it come back:',
  },
  others: {
    head: 'Somebody lives at this relay already',
    text: 'Nobody lives in this browser yet. What is it to be?',
    back: 'If that team is yours, or you have one elsewhere, let it come here too:',
  },
} as const;

/** This browser keeps nobody, and somebody lives at its relay: nothing begins before the person has said what this browser is to be. */
export default function AskedPage() {
  const look = useInfo(({ home }) => typeof home === 'object' && home.look);
  const [way, setWay] = useState<'own' | 'look' | null>(null);
  const who = WHO[useInfo(livesThere) ?? 'others'];
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), [way]);
  if (way === 'look' && look) return <LookPage onClose={() => setWay(null)} />;
  return (
    <main className="welcome" id="main">
      <div className="welcome-card">
        <h1 ref={head} tabIndex={-1}>
          {way === 'own' ? 'A household of your own' : who.head}
        </h1>
        {way === 'own' ? (
          <>
            <p className="welcome-lead">
              It lives at the same relay, beside the other one. Neither sees who lives with the other, or what is said
              there.
            </p>
            <Begin onBegun={focusStart} beside />
            <button type="button" className="link-button" onClick={() => setWay(null)}>
              Back
            </button>
          </>
        ) : (
          <>
            <p className="welcome-lead">{who.text}</p>
            <ComeBack lead={who.back} />
            <div className="devices-ways">
              {look && (
                <button type="button" className="ghost" onClick={() => setWay('look')}>
                  Only look
                </button>
              )}
              <button type="button" className="ghost" onClick={() => setWay('own')}>
                Begin a household of my own
              </button>
            </div>
          </>
        )}
      </div>
    </main>
  );
}
