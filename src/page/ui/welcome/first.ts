/** The views before there is a team, in one chunk for those who see any of them. */
export { default as WelcomePage } from './welcome.tsx';
export { default as AskedPage } from './asked.tsx';
