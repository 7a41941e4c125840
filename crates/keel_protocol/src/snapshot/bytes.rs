//! Numbers as bytes: little ones in few.

use crate::DecodeError;

/// Appends a number in groups of seven bits, the lowest first; the top bit of a byte says that more follow (LEB128).
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a number that may be negative: 0, -1, 1, -2 … as 0, 1, 2, 3 … (zigzag).
pub(super) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_varint(out, (number << 1 ^ number >> 63) as u64);
}

/// Takes bytes apart from the front.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Of all these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>().ok_or(DecodeError::Cut)?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A number as [`put_varint`] writes it.
    ///
    /// # Errors
    /// When the bytes end within it, or it does not fit.
    pub fn varint<T: TryFrom<u64>>(&mut self) -> Result<T, DecodeError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // Of the tenth byte one bit is left.
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return T::try_from(number).map_err(|_| DecodeError::Nonsense("a number too large"));
            }
        }
        Err(DecodeError::Nonsense("a number too large"))
    }

    pub(super) fn signed<T: TryFrom<i64>>(&mut self) -> Result<T, DecodeError> {
        let number = self.varint::<u64>()?;
        let signed = (number >> 1) as i64 ^ -((number & 1) as i64);
        T::try_from(signed).map_err(|_| DecodeError::Nonsense("a number out of range"))
    }

    /// A number of four bytes that is finite.
    pub(super) fn float(&mut self) -> Result<f32, DecodeError> {
        let number = f32::from_le_bytes(self.array()?);
        if number.is_finite() { Ok(number) } else { Err(DecodeError::Nonsense("no number")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_bytes_that_they_need_and_come_back() {
        for (number, length) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, number);
            assert_eq!(bytes.len(), length, "{number}");
            assert_eq!(Reader::new(&bytes).varint::<u64>().unwrap(), number);
            assert!(Reader::new(&bytes[..length - 1]).varint::<u64>().is_err());
        }
        for (number, byte) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (63, 126), (-64, 127)] {
            let mut bytes = Vec::new();
            put_signed(&mut bytes, number);
            assert_eq!(bytes, [byte], "{number}");
            assert_eq!(Reader::new(&bytes).signed::<i64>().unwrap(), number);
        }
        for number in [i64::MIN, i64::MAX] {
            let mut bytes = Vec::new();
            put_signed(&mut bytes, number);
            assert_eq!(Reader::new(&bytes).signed::<i64>().unwrap(), number);
        }
    }

    #[test]
    fn what_fits_no_number_is_none() {
        assert!(Reader::new(&[0xff; 9]).varint::<u64>().is_err());
        assert!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).varint::<u64>().is_err());
        assert!(Reader::new(&[0x80; 30]).varint::<u64>().is_err());
        assert!(Reader::new(&[0x80, 2]).varint::<u8>().is_err());
        assert!(Reader::new(&f32::NAN.to_le_bytes()).float().is_err());
    }
}
