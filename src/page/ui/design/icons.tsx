/** Line icons. Decorative: the meaning is in the text beside them or in the button's label. */
import type { ReactNode } from 'react';

/** `turns`: a direction arrow, mirrored where the page runs from right to left. */
export function Icon({ children, turns = false }: { children: ReactNode; turns?: boolean }) {
  return (
    <svg
      className={turns ? 'icon icon-turns' : 'icon'}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  );
}

export const CloseIcon = () => (
  <Icon>
    <path d="M6 6l12 12M18 6L6 18" />
  </Icon>
);
export const MoreIcon = () => (
  <Icon>
    <path d="M12 5h.01M12 12h.01M12 19h.01" strokeWidth="2.6" />
  </Icon>
);
export const MoonIcon = () => (
  <Icon>
    <path d="M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z" />
  </Icon>
);
export const BackIcon = () => (
  <Icon turns>
    <path d="M14.5 5.5L8 12l6.5 6.5" />
  </Icon>
);
export const CaretIcon = () => (
  <Icon>
    <path d="M6 9.5l6 6 6-6" />
  </Icon>
);
export const SoulIcon = () => (
  <Icon>
    <path d="M12 3.5c.9 4.6 3 6.8 7.5 8.5-4.5 1.7-6.6 3.9-7.5 8.5-.9-4.6-3-6.8-7.5-8.5 4.5-1.7 6.6-3.9 7.5-8.5z" />
  </Icon>
);
export const EnvelopeIcon = () => (
  <Icon>
    <rect x="3.5" y="6" width="17" height="12.5" rx="2" />
    <path d="M4 7.500l8 6 8-6" />
  </Icon>
);
export const HomeIcon = () => (
  <Icon>
    <path d="M4.5 4.500h4v4h-4zM10 4.500h4v4h-4zM15.5 4.500h4v4h-4zM4.5 10h4v4h-4zM10 10h4v4h-4zM15.5 10h4v4h-4zM4.5 15.500h4v4h-4zM10 15.500h4v4h-4zM15.5 15.500h4v4h-4z" />
  </Icon>
);
export const HelpIcon = () => (
  <Icon>
    <path d="M9.3 9.200a2.8 2.8 0 1 1 4 2.500c-.9.5-1.3 1-1.3 2M12 17h.01" strokeWidth="1.9" />
  </Icon>
);
export const WarnIcon = () => (
  <Icon>
    <path d="M12 4.500l8.5 15h-17zM12 10.500v4M12 17h.01" />
  </Icon>
);
export const PauseIcon = () => (
  <Icon>
    <path d="M9 6v12M15 6v12" strokeWidth="2.6" />
  </Icon>
);
export const BoardIcon = () => (
  <Icon>
    <rect x="3.5" y="4.500" width="4.800" height="15" rx="1.500" />
    <rect x="9.700" y="4.500" width="4.800" height="9.500" rx="1.500" />
    <rect x="15.900" y="4.500" width="4.800" height="12" rx="1.500" />
  </Icon>
);
export const ClockIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="8" />
    <path d="M12 7.5v4.7l3 2" />
  </Icon>
);
export const FindIcon = () => (
  <Icon>
    <circle cx="10.5" cy="10.5" r="6" />
    <path d="M15 15l5 5" />
  </Icon>
);
