// Choices of the user that survive a reload.

export function chosen(name) {
  try {
    return localStorage.getItem(`ottla-${name}`)
  } catch {
    return null
  }
}

export function choose(name, value) {
  try {
    localStorage.setItem(`ottla-${name}`, value)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
