import { useEffect, useRef, useState } from 'react';
import { useInfo } from '../context.tsx';
import { Begin } from './begin.tsx';
import { ComeBack } from './come-back.tsx';
import { LookPage } from './look.tsx';
import '../devices/devices.css';
import './welcome.css';

const focusStart = () => document.querySelector<HTMLElement>('.big-button')?.focus();

/** Nobody has lived in this browser, and others live at its relay: nothing begins before the person has said what this browser is to be. */
export default function AskedPage() {
  const look = useInfo(({ home }) => typeof home === 'object' && home.look);
  const [way, setWay] = useState<'own' | 'look' | null>(null);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), [way]);
  if (way === 'look' && look) return <LookPage onClose={() => setWay(null)} />;
  return (
    <main className="welcome" id="main">
      <div className="welcome-card">
        <h1 ref={head} tabIndex={-1}>
          {way === 'own' ? 'A household of your own' : 'Somebody lives at this relay already'}
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
            <p className="welcome-lead">Nobody lives in this browser yet. What is it to be?</p>
            <ComeBack lead="If that team is yours, or you have one elsewhere, let it come here too:" />
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
