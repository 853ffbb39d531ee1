//! International bank account numbers: their lengths and their checksum.

/// The countries that have them, each with the length of its numbers.
const LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 \
    CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 \
    HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 \
    ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 \
    SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

/// Where a number ends that has the length of its country and the right checksum.
pub(super) fn end(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let country = text[start..start + 2].to_ascii_uppercase();
    let entry = LENGTHS
        .split(' ')
        .find(|entry| entry.as_bytes().starts_with(&country))?;
    let length: usize = entry[2..].parse().ok()?;
    let places = (start..end).filter(|place| text[*place].is_ascii_alphanumeric());
    let places: Vec<usize> = places.take(length).collect();
    let last = *places.get(length - 1)?;
    let is_word_end = text
        .get(last + 1)
        .is_none_or(|next| !next.is_ascii_alphanumeric());
    // The country and the check digits count last.
    let turned = places[4..].iter().chain(&places[..4]);
    let rest = turned.fold(0, |rest, place| {
        match u32::from(text[*place].to_ascii_uppercase()) {
            letter @ 65.. => (rest * 100 + letter - 55) % 97,
            digit => (rest * 10 + digit - 48) % 97,
        }
    });
    (is_word_end && rest == 1).then_some(last + 1)
}
